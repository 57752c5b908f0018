// The log: JSON lines on stderr through pino. On a terminal it prints short lines for people, only warnings and errors,
// and writes the JSON lines to a file.
import pino from 'pino'
import type { Logger } from '../contract/index.ts'

export interface LogOptions {
  readonly format: 'json' | 'people'
  readonly level: string
  /** With `people`: the file of the JSON lines, from level `info`. */
  readonly file?: string
}

export function createLogger({ format, level, file }: LogOptions): Logger {
  if (format === 'json') return adapt(jsonLines(level, 2))
  if (file === undefined || level === 'silent') return peopleLogger(level)
  const kept = level === 'debug' ? 'debug' : 'info'
  return both(peopleLogger(level), adapt(jsonLines(kept, file)))
}

function jsonLines(level: string, to: number | string): pino.Logger {
  const destination =
    typeof to === 'number' ? pino.destination(to) : pino.destination({ dest: to, mode: 0o600, sync: true })
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination)
}

function both(first: Logger, second: Logger): Logger {
  const write =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (fields: Readonly<Record<string, unknown>>, message: string) => {
      first[level](fields, message)
      second[level](fields, message)
    }
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: (fields) => both(first.child(fields), second.child(fields)),
  }
}

function adapt(log: pino.Logger): Logger {
  return {
    debug: (fields, message) => log.debug(fields, message),
    info: (fields, message) => log.info(fields, message),
    warn: (fields, message) => log.warn(fields, message),
    error: (fields, message) => log.error(fields, message),
    child: (fields) => adapt(log.child(fields)),
  }
}

const LEVELS = ['debug', 'info', 'warn', 'error'] as const

function peopleLogger(level: string, bound: Readonly<Record<string, unknown>> = {}): Logger {
  const least = LEVELS.indexOf(level as (typeof LEVELS)[number])
  const write =
    (at: (typeof LEVELS)[number]) => (fields: Readonly<Record<string, unknown>>, message: string) => {
      if (LEVELS.indexOf(at) < least) return
      const rest = Object.entries({ ...bound, ...fields })
        .map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
        .join(' ')
      process.stderr.write(`${at === 'info' ? '' : `${at}: `}${message}${rest ? ` (${rest})` : ''}\n`)
    }
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: (fields) => peopleLogger(level, { ...bound, ...fields }),
  }
}
