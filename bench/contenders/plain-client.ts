import { Agent, request } from 'undici';
import type { SourcePage, Target, UpstreamClient } from '../../src/datasets/contract.ts';
import { getMember } from '../../src/datasets/sources/answer.ts';
import type { ListWork } from './lists.ts';

/** Reads a work's lists without the recorder, by the same calls: one after another, without limits and checks. */
export async function* plainPages(
  { dataset, window }: Pick<ListWork, 'dataset' | 'window'>,
  targets: readonly Target[],
  url: string,
): AsyncGenerator<SourcePage> {
  const dispatcher = new Agent({ connections: 1, pipelining: 1 });
  const read = async (path: string, options: Readonly<Record<string, unknown>>): Promise<unknown> => {
    const { body } = await request(`${url}${path}`, { dispatcher, ...options });
    return JSON.parse(await body.text());
  };
  const unsupported = () => Promise.reject(new Error('this client supports get and rpc only'));
  const client: UpstreamClient = {
    get: (path, query = {}) => read(path, { query }),
    rpc: async (path, method, params = {}) =>
      getMember(
        await read(path, {
          method: 'POST',
          body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
        }),
        'result',
      ),
    post: unsupported,
    probe: unsupported,
    pageSize: (max) => max,
    get now() {
      return Date.now();
    },
  };
  try {
    for (const target of targets) yield* dataset.source.walk(client, target, window);
  } finally {
    await dispatcher.close();
  }
}
