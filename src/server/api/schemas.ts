import { z } from 'zod';
import type { DeclaredColumn } from '../../db/declared.ts';
import type { Relation } from '../../reporting/relations/relation.ts';
import type { JsonSchema } from './operation.ts';

/** JSON Schemas of values, by PostgreSQL type. */
const VALUES: Readonly<Record<string, JsonSchema>> = {
  text: { type: 'string' },
  numeric: { type: 'string', description: 'An exact number.' },
  bigint: {
    type: ['integer', 'string'],
    description: 'A whole number; as a text where a double would round it.',
  },
  integer: { type: 'integer' },
  'double precision': { type: ['number', 'string'], description: 'NaN and infinity are texts.' },
  boolean: { type: 'boolean' },
  timestamptz: { type: 'string', description: 'ISO 8601 in UTC, or infinity.' },
  date: { type: 'string', format: 'date' },
  interval: { type: 'string', description: 'An ISO 8601 duration.' },
  jsonb: { description: 'Any JSON. Numbers that a double would round are texts.' },
  bytea: { type: 'string', pattern: '^([0-9a-f]{2})*$' },
  uuid: { type: 'string', format: 'uuid' },
  'text[]': { type: 'array', items: { type: 'string' } },
};

/**
 * Returns the schema of a column's values.
 * @throws Error if the type of a column is not supported
 */
export function valueSchema({ name, type, comment, notNull }: DeclaredColumn): JsonSchema {
  const value = VALUES[type];
  if (!value)
    throw new Error(
      `column ${name}: the type ${type} has no JSON Schema: add it to VALUES in src/server/api/schemas.ts`,
    );
  const types = Array.isArray(value.type) ? value.type : [value.type];
  const nullable = notNull || value.type === undefined ? value : { ...value, type: [...types, 'null'] };
  const also = value.description === undefined ? '' : ` (${value.description})`;
  return { ...nullable, description: `${comment}${also}` };
}

/** Returns the schema of a row. No column is required, because a request may select columns. */
export const rowSchema = ({ about, columns }: Pick<Relation, 'about' | 'columns'>): JsonSchema => ({
  type: 'object',
  description: about,
  additionalProperties: false,
  properties: Object.fromEntries(columns.map((column) => [column.name, valueSchema(column)])),
});

/**
 * Returns the schema of a page of rows.
 * @param row name of the schema of a row
 */
export const pageSchema = (row: string): JsonSchema => ({
  type: 'object',
  additionalProperties: false,
  required: ['rows', 'next'],
  properties: {
    rows: { type: 'array', items: { $ref: `#/components/schemas/${row}` } },
    next: {
      type: ['string', 'null'],
      description: 'The cursor of the next page, for `after`; null on the last page.',
    },
  },
});

/**
 * Returns the JSON Schema of a Zod schema.
 * @param io `input` for values before transformations, `output` for values after them
 */
export function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return rest;
}
