// The version of this package, for status, logs and the command line.
import { createRequire } from 'node:module'

const { version } = createRequire(import.meta.url)('../../package.json') as { version: string }

export const VERSION: string = version
