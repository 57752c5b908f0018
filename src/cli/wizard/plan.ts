// What the wizard is going to write: integrations and an agent, with their answers, tried already; secrets apart.
import type { PlatformModule } from '../../contract/index.ts'
import type { Definition, SecretAnswers } from '../setup-answers.ts'

export interface PlannedIntegration {
  readonly module: PlatformModule
  /** As in the file; what is secret is not in it. */
  readonly definition: Definition & { readonly id: string; readonly platform: string }
  readonly secrets: SecretAnswers
  /** What the platform says that it is; null: not asked. */
  readonly who: string | null
}

export type PlannedAgent =
  /** One that the file has already. */
  | { readonly kind: 'known'; readonly id: string }
  | {
      readonly kind: 'new'
      readonly id: string
      readonly connector: Definition
      readonly secrets: SecretAnswers
      readonly who: string | null
      /** What is to be done elsewhere. */
      readonly paste: readonly string[]
    }

export interface Plan {
  readonly integrations: readonly PlannedIntegration[]
  readonly agent: PlannedAgent
}

export const secretNameOf = (id: string, key: string) => `${id}.${key}`
