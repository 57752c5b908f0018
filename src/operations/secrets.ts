// Secrets in the encrypted store. Their values are never shown.
import { z } from 'zod'
import { SwitchboardError } from '../contract/index.ts'
import { type Operation, operation } from '../server/api/operation.ts'
import { all, PageQuery } from './inputs.ts'

const SecretBody = z.strictObject({ value: z.string().min(1) })

function secretName(name: string | undefined): string {
  if (name !== undefined && /^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/.test(name)) return name
  throw new SwitchboardError(
    'input_invalid',
    'name: starts with a letter or digit and holds letters, digits, _ . and -, at most 128',
  )
}

export const SECRETS: readonly Operation[] = [
  operation({
    method: 'GET',
    path: '/api/secrets',
    summary: 'Names in the encrypted store; never the values.',
    action: 'secrets.read',
    query: PageQuery,
    run: async ({ desk }) => all((await desk.secretNames()).map((name) => ({ name }))),
  }),
  operation({
    method: 'PUT',
    path: '/api/secrets/{name}',
    summary: 'Keeps a secret, encrypted.',
    body: SecretBody,
    // Whoever knows the secret of a door speaks as everybody behind it.
    gives: () => true,
    run: ({ desk, path, body, by }) => desk.setSecret(secretName(path.name), body.value, by),
  }),
  operation({
    method: 'DELETE',
    path: '/api/secrets/{name}',
    summary: 'Forgets a secret.',
    run: async ({ desk, path, by }) => {
      if (!(await desk.removeSecret(secretName(path.name), by))) {
        throw new SwitchboardError('not_found', 'there is no such secret')
      }
      return { removed: true }
    },
  }),
  operation({
    method: 'POST',
    path: '/api/secrets/rotate',
    summary: 'Encrypts all secrets with a new key.',
    run: ({ desk, by }) => desk.rotateSecrets(by),
  }),
]
