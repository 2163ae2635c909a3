/** A parameter of a statement, as a value that PostgreSQL reads from its text. */
export type Parameter = string | number | boolean | null;

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

  /** The parameters of one execution, as texts: the driver prepares a statement again for parameters of other types. */
  values(input: Input): (string | null)[] {
    return this.#reads.map((read) => {
      const value = read(input);
      return value === null ? null : String(value);
    });
  }
}
