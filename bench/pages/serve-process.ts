import { serveForParent } from '../serve.ts';
import { config, configuredFeeds } from './configuration.ts';

/** The recorder's server as a process of the benchmark. Argument: the database. */
const [, , url = ''] = process.argv;
await serveForParent(url, config, configuredFeeds);
