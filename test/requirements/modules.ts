// What issue 13 demands of platform and connector modules: their options, set-up and emulator, and those of others.
import { requirements } from './row.ts'

export const MODULES = requirements(
  'Issue 13 Modules: the folder owns its options, others can plug in',
  `
built   13 I13.one-schema       The options of a platform or connector have one schema, in its folder: configuration, adapter, JSON Schema and reference go by it.
built   13 I13.module-whole     Every built-in module has name, options with a JSON Schema, docs page and create, and its folder one row in the registry.
built   13 I13.no-names         The core, the contract and the store name no platform or connector, but for exceptions with a reason.
built   13 I13.late-sdk         The metadata of a module is loaded without the adapter's code and its SDK.
built   13 I13.default-access   Who may speak by default is said by the module; one that says nothing lets in only who is listed.
built   13 I13.setup            integrations add asks a module's questions, tries the answers live, says who it is, keeps secrets as references and prints what to paste.
built   13 I13.module-doctor    What a module checks of an integration is among doctor's gates.
built   13 I13.module-security  What stands open by the options of an adapter is said by its module to doctor --security; options of a foreign one that are called alike mean nothing to it.
built   13 I13.option-keys      Options of an adapter are handed on as their schema gives them; what follows from one for configuration and core is said by its module, never read by its key.
built   13 I13.connector-setup  init and agents add ask what a connector's module asks, whosever it is, or take it by flags; they try the answers and keep its secrets.
built   13 I13.connector-flags  What the help of init and agents add names of connectors are flags of their questions.
built   13 I13.emulator-row     switchboard emulate knows the emulators of platforms and connectors by the modules alone, and names those there are.
built   13 I13.alone            What one adapter alone needs is given to that one: no other platform sees the channel servers.
built   13 I13.modules-load     modules: adds platforms and connectors from a file relative to the configuration and from an installed package.
built   13 I13.modules-told     A module that throws, lacks a member or takes a known name is told with its reason.
built   13 I13.modules-down     At start what needs a module that failed is down with the reason, and the rest runs.
built   13 I13.modules-check    check exits 2 when a module fails, with line and column of its entry.
built   13 I13.modules-reload   At reload a module that fails leaves the old configuration in force; a new one that holds is used.
built   13 I13.modules-restart  A module whose file changed since it was loaded is named by doctor as needing a restart.
built   13 I13.modules-doctor   doctor names each module with its version and where it was found.
built   13 I13.modules-hang     A module that hangs, loops or ends the process while it is imported fails after a bounded time, and harms nothing else.
built   13 I13.modules-ts       A .ts module is loaded where Node strips types, else the error says so; other endings are refused.
built   13 I13.modules-place    An entry that is neither a relative or absolute file nor the name of a package is refused.
built   13 I13.modules-names    Names such as __proto__, constructor, schedule and those of built-in adapters can be taken by no module.
built   13 I13.modules-schema   A schema that throws, answers later or answers nonsense is a problem of its integration, not a crash.
built   13 I13.modules-whole    What create gave without a member, a link whose state() throws and a verify that gives nonsense are told of that integration, and the rest runs.
built   13 I13.modules-secrets  A secret of a foreign module is written as a reference, masked like any other, and resolved by its deps.
built   13 I13.mask-tree         What is shown of the file (errors, log, reload, doctor, status, console, check --in-force) holds no secret of it, however that is written.
built   13 I13.modules-errors   An error of another copy of the package counts like our own: outcome_unknown is not retried.
built   13 I13.modules-library  runDaemon takes modules of a library user, held to the same rules.
built   13 I13.modules-example  The example platform and connector run against the built package from a folder outside the repository, suites included.
built   13 I13.modules-guide    The guide leads from an empty folder to a green suite, as a test follows it.
built   13 I13.modules-validate  A module whose schema throws, loops or answers later on the options of the file fails within a bounded time, and the rest runs.
built   14 I14.stored-tried      The options of an integration that is added by command are tried on a module's schema in a process of its own, with its time limit; one that was kept and does not come back is down with the reason.
built   13 I13.modules-once      One look at a configuration tries each module once: check ends within the time that one trial may take.
built   13 I13.module-hangs          A module whose adapter is never made or started is down with the reason, and the rest runs
`,
)
