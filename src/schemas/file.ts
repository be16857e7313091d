import * as z from 'zod/mini';

/**
 * A stored file (specification: File object). Used by product image, product file, category image.
 *
 * @example
 * const file = fileSchema.safeParse(JSON.parse(text));
 */
export const fileSchema = z.looseObject({
  id: z.string(),
  storage: z.string(),
  url: z.string(),
  metadata: z.looseObject({
    size: z.int(),
    filename: z.string(),
    mime_type: z.string(),
  }),
});

/** A file that is kept with a product. */
export type StoredFile = z.output<typeof fileSchema>;
