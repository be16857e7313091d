import { callProvider } from './program.js';

/** Runs in its own process: `main.mjs http://127.0.0.1:3000 http://127.0.0.1:1`. */
const [, , origin = '', nobody = ''] = process.argv;
console.log(JSON.stringify(await callProvider(origin, nobody)));
