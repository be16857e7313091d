export { sign } from '../signature.js';
