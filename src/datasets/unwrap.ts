import { z } from 'zod';

/** Returns the schema inside of `nullish`, and whether the value may be missing. */
export function unwrap(schema: unknown): { inner: unknown; nullable: boolean } {
  let inner = schema;
  let nullable = false;
  while (inner instanceof z.ZodOptional || inner instanceof z.ZodNullable) {
    inner = inner.unwrap();
    nullable = true;
  }
  return { inner, nullable };
}
