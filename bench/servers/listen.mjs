/** Listens where the system finds a free port, and prints it. */
export function listen(server) {
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));
}

// Whoever started this server holds its stdin open, and may die without a word.
process.stdin.on('end', () => process.exit()).resume();
