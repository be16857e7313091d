/** zod's object that compiles its parser. It also works if code generation is forbidden. */
export { $ZodObjectJIT as CompiledObject } from 'zod/v4/core';
