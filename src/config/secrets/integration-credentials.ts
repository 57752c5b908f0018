// Credentials that others gave an integration, kept among the encrypted secrets under names of its own.

import type { IntegrationCredentials } from '../../contract/index.ts'
import type { SecretStore } from './secret-store.ts'

/** Names that begin so are not the operator's: `secrets list` leaves them out. */
const GIVEN = 'given.'

export function createIntegrationCredentials(
  secrets: SecretStore,
  integration: string,
): IntegrationCredentials {
  const prefix = `${GIVEN}${integration}.`
  return {
    put: (name, value) => secrets.keep(prefix + name, value, `integration:${integration}`),
    async get(name) {
      const known = secrets.read(prefix + name)
      if (known !== null) return known
      // Another node may have taken the delivery.
      await secrets.refresh()
      return secrets.read(prefix + name)
    },
    remove: (names) =>
      secrets.forget(
        names.map((name) => prefix + name),
        `integration:${integration}`,
      ),
    async names() {
      await secrets.refresh()
      return secrets.reserved(prefix).map((name) => name.slice(prefix.length))
    },
    reference: (name) => `secret:${prefix}${name}`,
  }
}
