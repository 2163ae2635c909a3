import { UsageError } from '../../lib/errors.ts';
import type { Scope, SourcePage, Target, UpstreamClient } from '../contract.ts';
import { singleResponsePage } from '../sources/single-response.ts';
import { type NodeChain, requestBlockAt, requestBlockById } from './chain-of-blocks.ts';

/**
 * Returns the target of `record DATASET --target node=… --target KEY=…`, where KEY is one of `keys`.
 * @throws UsageError if the node is not configured, or there is not exactly one such key
 */
export function parseBlockTarget(
  pairs: Readonly<Record<string, string>>,
  { nodes }: Scope,
  keys: readonly string[],
): Target {
  const problems: string[] = [];
  const { node = '', ...parameters } = pairs;
  if (!nodes.includes(node))
    problems.push(`--target node=${node}: must be a configured node: ${nodes.join(', ')}`);
  const [key = '', ...more] = Object.keys(parameters);
  if (!keys.includes(key) || more.length > 0)
    problems.push(`--target: requires node and exactly one of ${keys.join(', ')}`);
  else if (key === 'height' && !/^\d{1,15}$/.test(parameters.height ?? ''))
    problems.push(`--target height=${parameters.height}: must be a height of at most 15 digits`);
  if (problems.length > 0) throw new UsageError(problems);
  return pairs;
}

/**
 * Returns the walk of one block that was requested by id or height. Returns null if the target is not a
 * single block.
 */
export function walkRequestedBlock(
  client: UpstreamClient,
  chain: NodeChain,
  target: Target,
): AsyncIterable<SourcePage> | null {
  const { blockId, height } = target;
  if (blockId !== undefined) return walkOneBlock(() => requestBlockById(client, chain, blockId));
  return height === undefined ? null : walkOneBlock(() => requestBlockAt(client, chain, Number(height)));
}

async function* walkOneBlock(call: () => Promise<unknown>): AsyncGenerator<SourcePage> {
  yield singleResponsePage({ blocks: [await call()] });
}
