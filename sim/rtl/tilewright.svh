// Shorthand for the generated field positions: `FIELD(job_i, ExecuteInBase) is job_i[ExecuteInBaseLsb +: ExecuteInBaseWidth].
`ifndef TILEWRIGHT_SVH
`define TILEWRIGHT_SVH
`define FIELD(descriptor, name) descriptor[name``Lsb +: name``Width]
`endif
