import { metricPage, subnetPage, transactionPage, validatorList } from './list-responses.ts';

/**
 * The responses of the services for lists, one version a round. A response is created at its first request, so that
 * later timed requests do not wait for that. Those of earlier rounds are dropped.
 */
export class Lists {
  #round = 0;
  readonly #responses = new Map<string, Buffer>();

  /** The body of a GET; its path may start with `/round/N`. */
  page(url: URL): Buffer {
    const { round, path } = roundOf(url);
    return this.#once(round, `${path}${url.search}`, () => {
      if (path.includes('/metrics/')) return metricPage(round);
      const token = url.searchParams.get('pageToken');
      const from = token === null ? 0 : Number(token);
      const [, , , of = ''] = path.split('/');
      return path.endsWith('/subnets') ? subnetPage(of, round, from) : transactionPage(path, from);
    });
  }

  /** The `result` of platform.getCurrentValidators. */
  validators(url: URL): Buffer {
    const { round } = roundOf(url);
    return this.#once(round, 'validators', () => validatorList(round));
  }

  #once(round: number, name: string, make: () => string): Buffer {
    if (round !== this.#round) this.#responses.clear();
    this.#round = round;
    const response = this.#responses.get(name) ?? Buffer.from(make());
    this.#responses.set(name, response);
    return response;
  }
}

function roundOf({ pathname }: URL): { round: number; path: string } {
  const [, round = '0', path = pathname] = /^\/round\/(\d+)(.*)$/.exec(pathname) ?? [];
  return { round: Number(round), path };
}
