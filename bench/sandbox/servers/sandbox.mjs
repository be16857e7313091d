import { makeProduct } from '../product.mjs';

const { sandbox, product } = await makeProduct();
const { port } = await sandbox.listen();
console.log(JSON.stringify({ port, path: `/api/v2/products/${product.id}` }));

// Whoever started this server holds its stdin open, and may die without a word.
process.stdin.on('end', () => process.exit()).resume();
