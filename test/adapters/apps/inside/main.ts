import { makeContract } from './contract.js';

/** Serves one of the applications in a process of its own: `main.js ./koa.js`. */
const { application } = await import(process.argv[2] ?? '');
const { port } = await application.serve(makeContract((line) => console.log(line)));
console.log(`Listening on http://127.0.0.1:${port}`);
