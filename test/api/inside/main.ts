import { callProvider } from './program.js';

/** In a process of its own: `main.mjs http://127.0.0.1:3000 http://127.0.0.1:1`. */
const [, , origin = '', nobody = ''] = process.argv;
console.log(JSON.stringify(await callProvider(origin, nobody)));
