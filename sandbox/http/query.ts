import { Refusal } from './answer.ts';

/** The bounds of an integer parameter, inclusive minimum and maximum. */
export interface Bounds {
  readonly min: number;
  readonly max?: number;
}

/** Parser of the parameters of a query. Collects all errors before the query is refused. */
export class Query {
  readonly #parameters: URLSearchParams;
  readonly #problems: string[] = [];

  constructor(parameters: URLSearchParams) {
    this.#parameters = parameters;
  }

  text(name: string): string | undefined {
    return this.#parameters.get(name) ?? undefined;
  }

  /** Returns all values of a parameter, from repeated keys or comma-separated lists. */
  list(name: string): string[] {
    return this.#parameters
      .getAll(name)
      .flatMap((value) => value.split(','))
      .map((value) => value.trim())
      .filter((value) => value !== '');
  }

  integer(name: string, bounds: Bounds): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = Number(text);
    if (!/^-?\d+$/.test(text) || !Number.isSafeInteger(value))
      this.#problems.push(`${name} must be an integer number`);
    else if (value < bounds.min) this.#problems.push(`${name} must not be less than ${bounds.min}`);
    else if (bounds.max !== undefined && value > bounds.max) {
      this.#problems.push(`${name} must not be greater than ${bounds.max}`);
    }
    return value;
  }

  choice<T extends string>(name: string, values: readonly T[]): T | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = values.find((candidate) => candidate === text);
    if (value === undefined) this.fault(`${name} must be one of the following values: ${values.join(', ')}`);
    return value;
  }

  /** Adds an error that the caller found. */
  fault(problem: string): void {
    this.#problems.push(problem);
  }

  /** Refuses the query with status 400 and the list of errors, if there are errors. */
  check(): void {
    if (this.#problems.length > 0) throw new Refusal(400, this.#problems);
  }
}
