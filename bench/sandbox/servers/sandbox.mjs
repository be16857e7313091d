import { makeProduct } from '../product.mjs';

const { sandbox, product } = await makeProduct();
const { port } = await sandbox.listen();
console.log(JSON.stringify({ port, path: `/api/v2/products/${product.id}` }));

// The parent process holds stdin open. If the parent dies, stdin ends, and so does this server.
process.stdin.on('end', () => process.exit()).resume();
