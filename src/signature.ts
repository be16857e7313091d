export { type Secret, verifySignature } from './request/signature.js';
