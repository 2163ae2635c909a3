import { z } from 'zod';

/** The schema inside `nullish`, and whether it may be missing. */
export function unwrap(schema: unknown): { inner: unknown; nullable: boolean } {
  let inner = schema;
  let nullable = false;
  while (inner instanceof z.ZodOptional || inner instanceof z.ZodNullable) {
    inner = inner.unwrap();
    nullable = true;
  }
  return { inner, nullable };
}
