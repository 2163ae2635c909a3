import { between, derive, mix, unit } from '../random.ts';

/** The checks that can fail. */
const FAILING = ['network', 'P', 'C', 'X', 'diskspace', 'database', 'router', 'bls'] as const;

/** A span in which a check of a node fails, in Unix seconds: inclusive start, exclusive end. */
export interface Incident {
  readonly from: number;
  readonly to: number;
  readonly check: string;
  readonly error: string;
}

const DAY = 86_400;
const WEEK = 7 * DAY;

const ERRORS: Readonly<Record<string, string>> = {
  network: 'network layer is unhealthy reason: not connected to a minimum of 1 peer(s)',
  diskspace: 'remaining available disk space is below the warning threshold',
  database: 'database closed',
  router: 'longest running request took too long',
  bls: 'local BLS key does not match the public key registered on the P-chain',
};

/** Events of a node: a restart in each week, and an incident of 2 to 40 minutes on three days of ten. */
export class Timeline {
  readonly #seed: number;
  readonly #genesisSec: number;
  readonly #incidents: Incident[] = [];
  readonly #restarts: number[] = [];
  readonly #scripted: boolean;

  /** @param scripted true if generated incidents and restarts occur in addition to those that tests add */
  constructor(seed: number, name: string, genesisSec: number, scripted: boolean) {
    this.#seed = derive(seed, `timeline ${name}`);
    this.#genesisSec = genesisSec;
    this.#scripted = scripted;
  }

  /** Adds an incident, in which a check fails. */
  addIncident(incident: Incident): void {
    this.#incidents.push(incident);
  }

  /** Adds a restart of the node at a time (Unix seconds). */
  addRestart(sec: number): void {
    this.#restarts.push(sec);
  }

  /** Returns the last start of the node up to a time (Unix seconds). */
  startedAt(sec: number): number {
    const week = Math.floor((sec - this.#genesisSec) / WEEK);
    const starts = [this.#genesisSec, ...this.#restarts];
    if (this.#scripted) starts.push(this.#weekly(week - 1), this.#weekly(week));
    return Math.max(...starts.filter((start) => start <= sec));
  }

  #weekly(week: number): number {
    return this.#genesisSec + week * WEEK + between(this.#seed, 0, WEEK - 1, week, 1);
  }

  /** Returns the active incidents at a time (Unix seconds). */
  incidentsAt(sec: number): Incident[] {
    const own = this.#scripted
      ? [this.#daily(Math.floor(sec / DAY)), this.#daily(Math.floor(sec / DAY) - 1)]
      : [];
    return [...this.#incidents, ...own].flatMap((incident) =>
      incident !== undefined && incident.from <= sec && sec < incident.to ? [incident] : [],
    );
  }

  #daily(day: number): Incident | undefined {
    if (unit(this.#seed, day, 2) >= 0.3) return undefined;
    const from = day * DAY + between(this.#seed, 0, DAY - 1, day, 3);
    const check = FAILING[mix(this.#seed, day, 4) % FAILING.length] ?? 'network';
    const error = ERRORS[check] ?? 'consensus is not healthy: block processing too long';
    return { from, to: from + 60 * between(this.#seed, 2, 40, day, 5), check, error };
  }
}
