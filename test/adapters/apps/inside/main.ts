import { makeContract } from './contract.js';

/** Serves an application in its own process: `main.js ./koa.js`. */
const { application } = await import(process.argv[2] ?? '');
const { port } = await application.serve(makeContract((line) => console.log(line)));
console.log(`Listening on http://127.0.0.1:${port}`);
