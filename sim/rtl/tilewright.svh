// Shorthand for the generated field positions: `FIELD(job_i, ExecuteInBase) is these bits of job_i.
`ifndef TILEWRIGHT_SVH
`define TILEWRIGHT_SVH
`define FIELD(descriptor, name) descriptor[tilewright_isa_pkg::name``Lsb +: tilewright_isa_pkg::name``Width]
`endif
