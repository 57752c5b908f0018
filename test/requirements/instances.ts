// What issue 14 demands of instances: one configuration, one folder, one daemon.
import { requirements } from './row.ts'

export const INSTANCES = requirements(
  'Issue 14 Instances',
  `
built   14 I14.data-order            The data folder is --data, else --name, else SWITCHBOARD_DATA, else .switchboard beside the file, else ~/.switchboard
built   14 I14.file-found            A file that is not given is looked for from the working folder upwards, to the repository's root or the home folder at most
built   14 I14.file-foreign          A found file of another user is not run: up says to give it by --config
built   14 I14.two-projects          Two projects with a file each have a daemon each, and the shim of one receives nothing of the other
built   14 I14.known-files           A shim starts a daemon only for a file on which this user ran init or up, by real path and owner; else it says what to run
built   14 I14.file-mismatch         A file given by flag or environment that the folder's daemon does not run: exit 2, both paths and the remedy
built   14 I14.file-missing          A command given a file that is not there exits 2 and asks no daemon
built   14 I14.found-ignored         A file that was only found is ignored where the folder was named
built   14 I14.shim-mismatch         A shim given another file than the daemon's stays, is handed nothing, and says both paths in its instructions and results
built   14 I14.status-instance       status --json has instance {name, config, data}
built   14 I14.port-next             A port that is taken is followed by the next free one and said so, unless the port was asked for
built   14 I14.no-start-beside-old        Where ~/.switchboard holds turns of an integration that the file names and .switchboard is absent, up exits 2 with both ways on
built   14 I14.instances-list        instances lists every known instance with its file, folder and whether it runs
built   14 I14.adopt                 instances adopt moves a data folder beside the file, keeps what is in it, and verifies the chain
built   14 I14.adopt-live            instances adopt never moves a folder that a daemon holds, and never onto one that has data
built   14 I14.adopt-crash           An adoption that was interrupted is finished by the next one, and nothing starts in between
built   14 I14.data-unseen-by-git    A fresh data folder tells git to look away
`,
)
