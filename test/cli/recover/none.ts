// A file of a shop that exports no receiver, and leaves a handle open.
setInterval(() => {}, 60_000);

export const pool = {};
