// The part of the schema for MCP channel servers that Switchboard starts or connects to.
import { z } from 'zod'
import { SECRET_HINT, SECRET_REFERENCE } from '../../contract/index.ts'
import { accessSchema } from './access.ts'
import { httpUrl, text, textOrSecret } from './words.ts'

// A value under such a name is a secret for sure; others (LANG, DEBUG) may stand in the file.
const SECRET_NAME =
  /(^|[_-])(token|secret|passw(or)?d|passphrase|api[_-]?key|private[_-]?key|authorization|cookie)$/i

// It stands in addresses, allow entries and the words of tools, which trim it: what cannot be told apart there is no name.
export const serverName = z.string().regex(/^(?!\s)[^\p{Cc}\p{Cs}]{1,128}(?<!\s)$/u, {
  error: 'the name of a server has 1 to 128 characters, no control characters, and no space at either end',
})

export const mcpServerSchema = z
  .strictObject({
    command: text('Program to start.').optional(),
    args: z.array(z.string()).default([]).describe('Its arguments.'),
    env: z
      .record(z.string(), textOrSecret)
      .default({})
      .describe('Its environment: only this, plus PATH, HOME and the like.'),
    cwd: text('Folder it runs in, relative to this file; absent: where this file lies.').optional(),
    url: httpUrl('Streamable HTTP address to connect to.').optional(),
    headers: z.record(z.string(), textOrSecret).default({}).describe('Headers of every request.'),
    plugin: text('An installed plugin, e.g. slack@anthropic: the command is taken from there.').optional(),
    plugin_source: text('A stamp written by hand; shown as unverified.').optional(),
    enabled: z.boolean().default(true).describe('False keeps it configured but off.'),
    access: accessSchema.optional(),
  })
  .superRefine((server, context) => {
    const ways = (['command', 'url', 'plugin'] as const).filter((key) => server[key] !== undefined)
    if (ways.length !== 1) {
      const found = ways.length === 0 ? 'has none of them' : `has ${ways.join(' and ')}`
      context.addIssue({
        code: 'custom',
        path: [],
        message: `an MCP server takes exactly one of "command", "url" and "plugin"; this one ${found}`,
      })
    }
    for (const part of ['env', 'headers'] as const) {
      for (const [name, value] of Object.entries(server[part])) {
        if (SECRET_NAME.test(name) && value !== '' && !SECRET_REFERENCE.test(value)) {
          context.addIssue({
            code: 'custom',
            path: [part, name],
            message: `a secret is never written here; ${SECRET_HINT}`,
          })
        }
      }
    }
  })
  .describe('One MCP channel server.')
