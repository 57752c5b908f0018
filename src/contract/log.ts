// The shape of a log line. An event is logged once, where its handling ends. A line never contains a secret, a body or
// an environment.

export interface Logger {
  debug(fields: Readonly<Record<string, unknown>>, message: string): void
  info(fields: Readonly<Record<string, unknown>>, message: string): void
  warn(fields: Readonly<Record<string, unknown>>, message: string): void
  error(fields: Readonly<Record<string, unknown>>, message: string): void
  child(fields: Readonly<Record<string, unknown>>): Logger
}
