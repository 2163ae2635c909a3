/** What is told of a piece of work. Never a secret, and no text of unknown length. */
export type TracedAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** A piece of work, as a trace names it. */
export interface TracedWork {
  /** One of a few: what tells pieces apart is in the attributes. */
  readonly name: string;
  /** The work is a question to something outside this process, such as an upstream or the database. */
  readonly asks?: boolean;
  readonly attributes?: TracedAttributes;
}

/** Adds what is known at the end of a piece of work. @param failure why it failed without an error being thrown */
export type Tell = (attributes: TracedAttributes, failure?: string) => void;

/** Does a piece of work, and notes it in the trace of the work around it. An error that it throws is noted and thrown on. */
export type Traced = <T>(work: TracedWork, does: (tell: Tell) => Promise<T>) => Promise<T>;

/** Of work that asks the database. */
export const IN_POSTGRESQL: TracedAttributes = { 'db.system.name': 'postgresql' };

/** Notes nothing. */
export const untraced: Traced = (_work, does) => does(() => {});
