// What Switchboard takes from the environment besides secrets, read in one place.

export interface Environment {
  /** SWITCHBOARD_CONFIG: the configuration file. */
  readonly config: string | null
  /** SWITCHBOARD_DATA: the data folder. */
  readonly data: string | null
  /** SWITCHBOARD_LOG: debug, info, warn, error or silent. */
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error' | 'silent' | null
  /** NO_COLOR is set to anything but the empty string. */
  readonly noColor: boolean
  /** All of it, for references and key sources. */
  readonly variables: Readonly<Record<string, string | undefined>>
}

const LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const

export function readEnvironment(
  variables: Readonly<Record<string, string | undefined>> = process.env,
): Environment {
  return {
    config: variables.SWITCHBOARD_CONFIG || null,
    data: variables.SWITCHBOARD_DATA || null,
    logLevel: LEVELS.find((level) => level === variables.SWITCHBOARD_LOG) ?? null,
    noColor: Boolean(variables.NO_COLOR),
    variables,
  }
}
