/** A parameter of a statement: a text that PostgreSQL reads, or bytes in its binary form, which only `BulkClient` sends. */
export type Parameter = string | number | boolean | Buffer | null;

/**
 * A statement under construction: every parameter is declared where it is used, together with how its value is read
 * from an input, so that the text is built once and executed with many inputs.
 */
export class Statement<Input> {
  readonly #reads: ((input: Input) => Parameter)[] = [];

  /** Declares a parameter. @returns its placeholder, cast to `type` */
  param(type: string, read: (input: Input) => Parameter): string {
    this.#reads.push(read);
    return `$${this.#reads.length}::${type}`;
  }

  /** The parameters of one execution. */
  values(input: Input): Parameter[] {
    return this.#reads.map((read) => read(input));
  }
}
