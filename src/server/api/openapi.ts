import { setImmediate } from 'node:timers/promises';
import type { z } from 'zod';
import type { Catalogue } from '../../reporting/relations/catalogue.ts';
import type { JsonSchema, Operation } from './operation.ts';
import { jsonSchema, rowSchema } from './schemas.ts';

const PROBLEM: JsonSchema = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    problems: {
      type: 'array',
      description: 'All problems of the parameters.',
      items: {
        type: 'object',
        required: ['parameter', 'problem'],
        properties: { parameter: { type: 'string' }, problem: { type: 'string' } },
      },
    },
  },
};

const FORMAT: JsonSchema = {
  name: 'format',
  in: 'query',
  description:
    'csv: RFC 4180, with all rows unless `limit` is set. The suffix `.csv` of the path has the same effect.',
  schema: { type: 'string', enum: ['json', 'csv'], default: 'json' },
};

/**
 * Generates the OpenAPI 3.1 document of the API from the schemas that validate its parameters.
 * @param version version of the recorder
 */
export async function openApi(
  operations: ReadonlyMap<string, Operation>,
  catalogue: Catalogue,
  version: string,
): Promise<JsonSchema> {
  const shared = new SharedParameters();
  const paths: Record<string, JsonSchema> = {};
  for (const operation of operations.values()) {
    paths[operation.path] = { get: describeOperation(operation, shared) };
    // Generating the document takes about 1 s. Other work of the process runs between the operations.
    await setImmediate();
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'chain-recorder',
      version,
      description: 'The recorded data and the state of the recording. See docs/reference/http.md.',
    },
    servers: [{ url: '/api/v1' }],
    security: [{}, { token: [] }],
    tags: [
      { name: 'datasets', description: 'The recorded data, by dataset.' },
      { name: 'views', description: 'All views and functions of the schema `reporting`.' },
      { name: 'questions', description: 'Saved queries.' },
      { name: 'recording', description: 'The state of the recording.' },
    ],
    paths,
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'RECORDER_TOKEN, where it is set.' },
      },
      schemas: {
        problem: PROBLEM,
        ...Object.fromEntries([...catalogue.views.values()].map((view) => [view.name, rowSchema(view)])),
      },
      parameters: shared.byName,
      responses: {
        problem: {
          description: 'The reason of the error.',
          content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/problem' } } },
        },
      },
    },
  };
}

/**
 * Parameters that several operations share. Each parameter is defined once. For example, all columns with the
 * same name and type have the same filter.
 */
class SharedParameters {
  readonly byName: Record<string, JsonSchema> = { format: FORMAT };
  readonly #names = new Map<string, string>();
  readonly #schemas = new Map<z.ZodType, { readonly json: JsonSchema; readonly required: boolean }>();

  /** Returns a reference to a parameter. Adds the parameter if it is new. */
  of(name: string, schema: z.ZodType, description: string | undefined): JsonSchema {
    const { json, required } = this.#read(schema);
    const { description: own, ...rest } = json;
    const about = description ?? own ?? '';
    const parameter = {
      name,
      in: 'query',
      description: about,
      ...(required ? { required } : {}),
      schema: rest,
    };
    const text = JSON.stringify(parameter);
    const known = this.#names.get(text);
    if (known !== undefined) return refTo(known);
    let free = name;
    for (let at = 2; free in this.byName; at++) free = `${name}-${at}`;
    this.byName[free] = parameter;
    this.#names.set(text, free);
    return refTo(free);
  }

  #read(schema: z.ZodType) {
    const known = this.#schemas.get(schema) ?? {
      json: jsonSchema(schema, 'input'),
      required: !schema.safeParse(undefined).success,
    };
    this.#schemas.set(schema, known);
    return known;
  }
}

const refTo = (name: string): JsonSchema => ({ $ref: `#/components/parameters/${name}` });

function describeOperation(
  { id, tag, summary, parameters, answer }: Operation,
  shared: SharedParameters,
): JsonSchema {
  const problem = { $ref: '#/components/responses/problem' };
  return {
    operationId: id,
    tags: [tag],
    summary,
    parameters: [
      ...[...parameters()].map(([name, { schema, description }]) => shared.of(name, schema, description)),
      refTo('format'),
    ],
    responses: {
      200: {
        description: 'The response.',
        content: { 'application/json': { schema: answer }, 'text/csv': { schema: { type: 'string' } } },
      },
      304: { description: 'Not modified since the ETag in `If-None-Match`.' },
      400: problem,
      401: { description: 'The token is missing or wrong.' },
      503: problem,
      504: problem,
    },
  };
}
