import { serveForParent } from '../serve.ts';
import { watchList } from './configuration.ts';

/** The recorder's server as a process of the benchmark. Arguments: the database, and the number of chains and nodes. */
const [, , url = '', chains = '', nodes = ''] = process.argv;
const { config, feed, ledger } = watchList(Number(chains), Number(nodes));
await serveForParent(url, config, [feed, ledger]);
