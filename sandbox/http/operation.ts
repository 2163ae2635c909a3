import type { Answer } from './answer.ts';
import { Refusal } from './answer.ts';
import type { Call } from './call.ts';

/** The service of an operation. `control` is the control interface of the sandbox. */
export type Service = 'data' | 'metrics' | 'node' | 'control';

/** The parts of a path that are named in its template. */
export type PathParts = Readonly<Record<string, string>>;

/** One operation of a service. */
export interface Operation {
  readonly name: string;
  readonly service: Service;
  /** The budget units that a call costs; 0 for calls of nodes. */
  readonly units: number;
  readonly method: 'GET' | 'POST';
  /** A path with parts in braces, such as `/v1/chains/{chainId}/transactions/{txHash}`. */
  readonly path: string;
  answer(call: Call, parts: PathParts): Answer;
}

/** Returns a part of the path that the template contains. */
export function part(parts: PathParts, name: string): string {
  const value = parts[name];
  if (value === undefined) throw new Refusal(404, `no ${name} in the path`);
  return value;
}
