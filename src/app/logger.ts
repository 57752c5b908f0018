// The log: JSON lines on stderr through pino; on a terminal a short line for people, warnings and worse only.
import pino from 'pino'
import type { Logger } from '../contract/index.ts'

export interface LogOptions {
  readonly format: 'json' | 'people'
  readonly level: string
}

export function createLogger({ format, level }: LogOptions): Logger {
  if (format === 'json')
    return adapt(pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination(2)))
  return peopleLogger(level)
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
