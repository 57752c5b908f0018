// Secrets in the encrypted store. Their values are never shown.
import { z } from 'zod'
import { isSecretName } from '../config/secrets/secret-store.ts'
import { SwitchboardError } from '../contract/index.ts'
import { liveParts } from './context.ts'
import { all, PageQuery } from './inputs.ts'
import { operation } from './operation.ts'

const SecretBody = z.strictObject({ value: z.string().min(1) })

function secretName(name: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/.test(name)) return name
  throw new SwitchboardError(
    'input_invalid',
    'name: starts with a letter or digit and holds letters, digits, _ . and -, at most 128',
  )
}

export const SECRETS = [
  operation({
    route: 'GET /api/secrets',
    summary: 'Names in the encrypted store; never the values.',
    action: 'secrets.read',
    query: PageQuery,
    run: async ({ store }) => {
      const names = Object.keys(await store.secrets()).filter(isSecretName)
      return all(names.sort().map((name) => ({ name })))
    },
  }),
  operation({
    route: 'PUT /api/secrets/{name}',
    summary: 'Keeps a secret, encrypted.',
    body: SecretBody,
    // Whoever knows the secret of a door speaks as everybody behind it.
    gives: () => true,
    run: async (call) => {
      const { secrets, gateway } = liveParts(call)
      await secrets.set(secretName(call.path.name), call.body.value, call.by)
      // Parts that use the secret restart with it. A part that waited for it starts now.
      await gateway.apply()
    },
  }),
  operation({
    route: 'DELETE /api/secrets/{name}',
    summary: 'Forgets a secret.',
    run: async (call) => {
      const { secrets, gateway } = liveParts(call)
      if (!(await secrets.remove(secretName(call.path.name), call.by)))
        throw new SwitchboardError('not_found', 'there is no such secret')
      await gateway.apply()
      return { removed: true }
    },
  }),
  operation({
    route: 'POST /api/secrets/rotate',
    summary: 'Encrypts all secrets with a new key.',
    run: async (call) => ({ rotated: await liveParts(call).secrets.rotate(call.by) }),
  }),
]
