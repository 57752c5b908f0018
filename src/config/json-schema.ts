// `switchboard schema`: the configuration as JSON Schema, so that editors complete and check while one writes.
import { z } from 'zod'
import { configSchema } from './schema/index.ts'

/** JSON Schema, draft 2020-12, of what may be written in switchboard.yaml. */
export function configurationJsonSchema(): Readonly<Record<string, unknown>> {
  return z.toJSONSchema(configSchema, {
    target: 'draft-2020-12',
    io: 'input',
    unrepresentable: 'any',
  }) as Record<string, unknown>
}
