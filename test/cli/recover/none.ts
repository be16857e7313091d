// A file of a shop that exports no receiver, and leaves something open.
setInterval(() => {}, 60_000);

export const pool = {};
