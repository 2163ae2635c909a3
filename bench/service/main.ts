import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Blocks } from './blocks.ts';
import { Lists } from './lists.ts';

/**
 * The services as a process of the benchmark: responses are created before timed requests, so that serving a page costs
 * little compared with reading it. Argument: the number of blocks. Sends its port to its parent.
 */
const PAGE = 100;
const blocks = new Blocks(Number(process.argv[2]));
const lists = new Lists();

const server = createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://localhost');
  if (url.pathname.endsWith('/blocks')) answerBlocks(url.searchParams, response);
  else if (request.method === 'GET') answer(response, [lists.page(url)]);
  else
    void callId(request).then((id) => {
      const prefix = Buffer.from(`{"jsonrpc":"2.0","id":${id},"result":`);
      answer(response, [prefix, lists.validators(url), Buffer.from('}')]);
    });
});
server.keepAliveTimeout = 0;

/** A page of blocks; its token is the index of the next one. */
function answerBlocks(query: URLSearchParams, response: ServerResponse): void {
  const token = query.get('pageToken');
  const from =
    token === null ? blocks.firstUntil(secondIn(query, 'endTimestamp') ?? Infinity) : placeIn(token);
  const end = blocks.endFrom(secondIn(query, 'startTimestamp') ?? 0);
  const to = Math.min(from + PAGE, end);
  const next = to < end ? `,"nextPageToken":"${tokenOf(to)}"` : '';
  answer(response, [Buffer.from('{"blocks":['), blocks.slice(from, to), Buffer.from(`]${next}}`)]);
}

function secondIn(query: URLSearchParams, name: string): number | null {
  const text = query.get(name);
  return text === null ? null : Number(text);
}

const tokenOf = (place: number) => Buffer.from(`proposed-blocks/${place}`).toString('base64url');
const placeIn = (token: string) => Number(Buffer.from(token, 'base64url').toString().split('/')[1]);

async function callId(request: IncomingMessage): Promise<number> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return Number(/"id":(\d+)/.exec(text)?.[1]);
}

function answer(response: ServerResponse, parts: readonly Buffer[]): void {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': length });
  response.cork();
  for (const part of parts) response.write(part);
  response.end();
  response.uncork();
}

process.once('disconnect', () => process.exit()); // the parent has ended
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const address = server.address();
if (address !== null && typeof address === 'object') process.send?.({ port: address.port });
