// The reason for the end of a child: which of its last lines gives it.
import { describe, expect, it } from 'vitest'
import { createRecordingLog } from '../../testing/recording-log.ts'
import { createStderrLog } from './stderr-log.ts'

function lastOf(text: string): string | null {
  const log = createStderrLog({
    ...{ clock: { now: () => 0 }, log: createRecordingLog(), redact: (line) => line, who: 'the server' },
  })
  for (const line of text.split('\n')) log.line(line)
  return log.last()
}

const IMPORT = `node:internal/modules/esm/resolve:873
  throw new ERR_MODULE_NOT_FOUND(packageName, fileURLToPath(base), null);
        ^

Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod' imported from /srv/webhook.mjs
    at packageResolve (node:internal/modules/esm/resolve:873:9)
    at moduleResolve (node:internal/modules/esm/resolve:946:18) {
  code: 'ERR_MODULE_NOT_FOUND'
}

Node.js v20.20.2
`
const BUN = 'error: Cannot find package "zod" from "/srv/webhook.ts"\n\nBun v1.2.3 (Linux x64)\n'

describe('why a child ended', () => {
  it.each([
    [
      'an import that Node cannot resolve',
      IMPORT,
      "Cannot find package 'zod' imported from /srv/webhook.mjs",
    ],
    [
      'an error that nobody caught',
      'x\nTypeError: no token\n    at run (a.mjs:1:1)\n\nNode.js v22.1.0',
      'no token',
    ],
    ['the same under Bun', BUN, 'Cannot find package "zod"'],
    ['Python says it last', 'Traceback (most recent call last):\nValueError: no token', 'no token'],
    ['words of its own', 'Error: one that was mended\nno token given', 'no token given'],
    ['nothing but a version', 'Node.js v20.20.2', 'Node.js v20.20.2'],
  ])('[I35.b46-seeds] is what it said of it, not the version of what ran it: %s', (_, text, words) => {
    expect(lastOf(text)).toContain(words)
  })
})
