import { isObject, type Json, type JsonObject, readJson, writeJson } from '../json.ts';
import type { FaultContext } from './context.ts';
import type { Delivery } from './delivery.ts';

/** Returns the document of a valid response, parsed if it was written as text. */
export function documentOf(context: FaultContext): JsonObject | undefined {
  if (context.answer.status >= 300) return undefined;
  const document = context.answer.document ?? readJson(context.answer.text ?? '');
  return isObject(document) ? document : undefined;
}

/** Delivers another document instead of the correct one. */
export function withDocument(context: FaultContext, document: JsonObject): Delivery {
  return { ...context.delivery, body: Buffer.from(writeJson(document)) };
}

/** A list within a document, with the path of member names from the document to the list. */
export interface List {
  readonly path: readonly string[];
  readonly items: readonly Json[];
}

/** Returns the first list of objects in a document, directly or in its `result`. */
export function listOf(document: JsonObject, path: readonly string[] = []): List | undefined {
  for (const [name, member] of Object.entries(document)) {
    if (Array.isArray(member) && member.length > 0 && member.every((item) => isObject(item))) {
      return { path: [...path, name], items: member };
    }
  }
  return isObject(document.result) ? listOf(document.result, [...path, 'result']) : undefined;
}

/** Returns a document with the member at a path replaced. */
export function replaceMember(document: JsonObject, path: readonly string[], value: Json): JsonObject {
  const [name, ...rest] = path;
  if (name === undefined) return document;
  const inner = document[name];
  return {
    ...document,
    [name]: rest.length > 0 && isObject(inner) ? replaceMember(inner, rest, value) : value,
  };
}
