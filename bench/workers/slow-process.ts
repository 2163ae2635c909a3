import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

/** An upstream with a balance of every address, and a latency. Argument: ms. Sends its port to its parent. */
const latencyMs = Number(process.argv[2]);
const answer = JSON.stringify({
  nativeTokenBalance: {
    name: 'Avalanche',
    symbol: 'AVAX',
    decimals: 18,
    chainId: '43114',
    price: { currencyCode: 'usd', value: 42.42 },
    balance: '2000000000000000000',
    balanceValue: { currencyCode: 'usd', value: 84.84 },
  },
});

const server = createServer(async (_request, response) => {
  await delay(latencyMs);
  response.writeHead(200, { 'content-type': 'application/json' }).end(answer);
});
server.keepAliveTimeout = 0;
process.once('disconnect', () => process.exit()); // the parent has ended
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.send?.({ port: typeof address === 'object' ? address?.port : undefined });
});
