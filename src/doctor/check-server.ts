import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Environment } from '../config/environment.ts';
import type { Config } from '../config/schema.ts';
import type { CheckResult } from '../lib/check-result.ts';
import { toErrorMessage, UsageError } from '../lib/errors.ts';
import { Access } from '../server/access.ts';
import { explainListenError } from '../server/listen-error.ts';
import { callOnce } from '../upstreams/http.ts';

/** Timeout of the request to the process that uses the port, in ms. */
const PORT_TIMEOUT_MS = 2_000;

/** Checks the access rules of the pages, and whether the port of the server is free. */
export async function checkServer(
  { host, port, token }: Pick<Environment, 'host' | 'port' | 'token'>,
  { server: { trustedProxies, public: open } }: Pick<Config, 'server'>,
): Promise<CheckResult> {
  const bad = (found: string, fix?: string): CheckResult => ({
    check: 'server',
    ok: false,
    found,
    ...(fix === undefined ? {} : { fix: fix }),
  });
  try {
    new Access({ host, token, trustedProxies, public: open });
    const probe = createServer().listen(port, host);
    await once(probe, 'listening');
    probe.close();
    return {
      check: 'server',
      ok: true,
      found: port === 0 ? `any free port of ${host}` : `${host}:${port} is free`,
    };
  } catch (error) {
    if (error instanceof UsageError) return bad(error.message);
    const fault = explainListenError(error, host, port);
    if (fault === null)
      return bad(`${host}:${port}: ${toErrorMessage(error)}`, 'correct RECORDER_HOST and RECORDER_PORT');
    const { setting, cause, fix, isPortInUse } = fault;
    if (!isPortInUse) return bad(`${setting}: ${cause}`, fix);
    if (!(await isRecorder(host, port)))
      return bad(
        `${setting}: ${cause} by another program`,
        `${fix}, or end that program ("ss -ltnp" lists the programs that listen)`,
      );
    const found = `a chain-recorder listens on ${host}:${port}; a second chain-recorder needs another RECORDER_PORT`;
    return { check: 'server', ok: true, found };
  }
}

/** Returns whether the process on the port responds like a recorder. */
async function isRecorder(host: string, port: number): Promise<boolean> {
  const at = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  try {
    const { text } = await callOnce(
      {
        method: 'GET',
        url: new URL(`http://${at.includes(':') ? `[${at}]` : at}:${port}/health`),
        headers: {},
        deadline: PORT_TIMEOUT_MS,
        maxBytes: 1_000,
        signal: new AbortController().signal,
      },
      true,
    );
    return text === '{"status":"up"}';
  } catch {
    return false;
  }
}
