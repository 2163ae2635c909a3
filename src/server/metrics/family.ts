/** A metric by its name: what it means, and by what its series are told apart. */
export interface Family {
  readonly name: string;
  readonly type: 'gauge' | 'counter' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
}

/** How long things took: of each bucket its end in seconds, rising, and how many took at most so long. */
export interface Buckets {
  readonly upTo: readonly (readonly [end: number, count: number])[];
  readonly count: number;
  /** Seconds in all. */
  readonly sum: number;
}

/** One series of a family, and its value now. */
export interface Sample {
  readonly family: Family;
  /** Along the labels of the family. */
  readonly labels: readonly string[];
  readonly value: number | Buckets;
}

/** A family that makes samples of itself. */
type Sampler<Value> = Family & {
  /** @param labels the values of its labels, in their order */
  of(value: Value, ...labels: readonly string[]): Sample;
};

const sampler =
  <Value extends number | Buckets>(type: Family['type']) =>
  (name: string, help: string, ...labels: readonly string[]): Sampler<Value> => {
    const family = { name, type, help, labels };
    return { ...family, of: (value, ...values) => ({ family, labels: values, value }) };
  };

/** Declares what goes up and down. */
export const gauge = sampler<number>('gauge');
/** Declares what only grows, or begins anew at 0. */
export const counter = sampler<number>('counter');
/** Declares a histogram of seconds. */
export const histogram = sampler<Buckets>('histogram');
