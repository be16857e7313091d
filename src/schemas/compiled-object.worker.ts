import { $ZodObject } from 'zod/v4/core';
import type * as full from './compiled-object.js';

/** Compiles nothing: Workers forbid code generation, so the compiler would only make a Worker larger. */
export const CompiledObject: typeof full.CompiledObject = $ZodObject;
