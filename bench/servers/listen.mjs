/** Listens on a free port, and prints it. */
export function listen(server) {
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));
}

// The parent process holds stdin open. If the parent dies, stdin ends, and so does this server.
process.stdin.on('end', () => process.exit()).resume();
