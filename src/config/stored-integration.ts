// One integration that was added by command: the shape of an entry under `integrations:`, held to the same schema.
import { type IntegrationSettings, SwitchboardError } from '../contract/index.ts'
import { findingsOf } from './issues.ts'
import { formatPath } from './problem.ts'
import { configSchema } from './schema/index.ts'
import { integrationSchema } from './schema/integrations.ts'
import { integrationOf } from './settings-of.ts'

export const STORE_ORIGIN = 'store'

/** Throws `input_invalid` naming the field. Values are never quoted: any of them could be a secret. */
export function readStoredIntegration(definition: Readonly<Record<string, unknown>>): IntegrationSettings {
  const parsed = integrationSchema.safeParse(definition)
  if (!parsed.success) {
    const [first] = findingsOf(parsed.error.issues, definition, integrationSchema)
    const where = first && first.path.length > 0 ? `${formatPath(first.path)}: ` : ''
    throw new SwitchboardError('input_invalid', `${where}${first?.message ?? 'is not an integration'}`, {
      ...(first?.hint ? { hint: first.hint } : {}),
    })
  }
  if (parsed.data.access?.file !== undefined) {
    throw new SwitchboardError('input_invalid', 'access.file: an added integration writes its policy here')
  }
  const settings = integrationOf(parsed.data, 0, configSchema.parse({}), {
    access: () => ({ problem: 'no file' }),
    messaging: () => [],
  })
  return { ...settings, origin: STORE_ORIGIN }
}
