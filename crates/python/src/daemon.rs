//! One daemon: a process that forks workers.

use crate::wire::{self, Encode};
use crate::{Environment, WorkerVersion, interpreter};
use firesteel_error::{Result, SparkError};
use parking_lot::Mutex;
use std::io::{self, Read, Write};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::{TcpStream, UnixStream};

/// Starts the module that workers run, which the daemon finds under the name that is its argument. Functions pickled
/// by name know the main module, so nothing of ours lies there.
const START: &str = concat!(
    "import sys, types\n",
    "sys.modules['pyspark_switch'] = types.ModuleType('pyspark_switch')\n",
    "exec(compile(r'''",
    include_str!("switch.py"),
    "''', 'pyspark_switch', 'exec'), sys.modules['pyspark_switch'].__dict__)\n",
    "sys.modules['pyspark_switch'].start()\n",
);

/// Variables of the server's own environment that workers see.
const INHERITED: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    "TEMP",
    "TMP",
    "PYTHONPATH",
    "PYTHONHOME",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "CURL_CA_BUNDLE",
    "REQUESTS_CA_BUNDLE",
    "SPARK_TESTING",
    "SYSTEMROOT",
];

/// How long a daemon may take to start: imports of a cold machine are slow.
const START_TIME: Duration = Duration::from_secs(120);

/// How long a worker may take to say hello.
const HELLO_TIME: Duration = Duration::from_secs(60);

/// How long a daemon may take to end once it is told to.
const END_TIME: Duration = Duration::from_secs(3);

/// A Unix socket's path may have about a hundred bytes.
const LONGEST_SOCKET_FOLDER: usize = 60;

/// The reading half of a worker's socket.
pub type Reader = BufReader<Box<dyn AsyncRead + Send + Unpin>>;
/// The writing half of a worker's socket.
pub type Writer = Box<dyn AsyncWrite + Send + Unpin>;

#[derive(Debug, Clone)]
enum Address {
    Port(u16),
    Path(PathBuf),
}

/// A running daemon. It ends, with its workers, when it is dropped.
#[derive(Debug)]
pub struct Daemon {
    child: Mutex<Option<Child>>,
    stdin: Mutex<Option<ChildStdin>>,
    address: Address,
    secret: String,
    /// Where workers leave traces of faults of native code, by their ids.
    faults: Option<PathBuf>,
}

/// A forked worker.
pub struct Connection {
    pub reader: Reader,
    pub writer: Writer,
    pub pid: i32,
}

impl Daemon {
    /// Starts a daemon whose socket, if it has one with a name, lies in a folder. Blocks until it listens.
    pub fn start(environment: &Environment, sockets: &Path) -> Result<Self> {
        let secret = uuid::Uuid::new_v4().simple().to_string();
        let is_unix = environment.interpreter.version >= WorkerVersion::V4_1
            && sockets.as_os_str().len() <= LONGEST_SOCKET_FOLDER;
        let faults = environment.keeps_faults.then(|| sockets.join(format!("faults-{secret}")));
        if let Some(faults) = &faults {
            std::fs::create_dir_all(faults)
                .map_err(|error| SparkError::internal(format!("no folder for Python workers: {error}")))?;
        }
        let mut command = Command::new(&environment.interpreter.executable);
        command
            .args(["-c", START, "pyspark_switch"])
            .current_dir(&environment.folder)
            .env_clear()
            .envs(variables(environment, &secret))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        if is_unix {
            command.env("PYTHON_UNIX_DOMAIN_ENABLED", "true").env("PYTHON_WORKER_FACTORY_SOCK_DIR", sockets);
        }
        if let Some(faults) = &faults {
            command.env("PYTHON_FAULTHANDLER_DIR", faults);
        }
        let mut child = command.spawn().map_err(|error| {
            let shown = environment.interpreter.executable.display();
            interpreter::unusable(format!("{shown} cannot be started ({error})"))
        })?;
        let stdin = child.stdin.take();
        let Some(mut stdout) = child.stdout.take() else {
            return Err(SparkError::internal("a process without its output"));
        };
        let (sender, receiver) = std::sync::mpsc::channel();
        // What workers print later goes to the server's own log.
        std::thread::spawn(move || {
            let address = address(&mut stdout, is_unix);
            let is_started = address.is_ok();
            let _ = sender.send(address);
            if is_started {
                let _ = io::copy(&mut stdout, &mut io::stderr());
            }
        });
        let address = receiver.recv_timeout(START_TIME).map_err(|_| io::ErrorKind::TimedOut.into()).flatten();
        let (child, stdin) = (Mutex::new(Some(child)), Mutex::new(stdin));
        let daemon = |address| Self { child, stdin, address, secret, faults };
        match address {
            Ok(address) => Ok(daemon(address)),
            Err(error) => {
                drop(daemon(Address::Port(0)));
                let shown = environment.interpreter.executable.display();
                Err(interpreter::unusable(format!("the daemon of {shown} did not start ({error})")))
            }
        }
    }

    /// Forks a worker.
    pub async fn connect(&self) -> io::Result<Connection> {
        tokio::time::timeout(HELLO_TIME, self.connect_now())
            .await
            .map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
    }

    async fn connect_now(&self) -> io::Result<Connection> {
        let (reader, writer): (Box<dyn AsyncRead + Send + Unpin>, Writer) = match &self.address {
            Address::Port(port) => {
                let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, *port)).await?;
                stream.set_nodelay(true)?;
                let (reader, writer) = stream.into_split();
                (Box::new(reader), Box::new(writer))
            }
            Address::Path(path) => {
                let (reader, writer) = UnixStream::connect(path).await?.into_split();
                (Box::new(reader), Box::new(writer))
            }
        };
        let mut connection = Connection { reader: BufReader::with_capacity(1 << 16, reader), writer, pid: 0 };
        connection.pid = wire::read_int(&mut connection.reader).await?;
        if let Address::Port(_) = self.address {
            let mut hello = Vec::new();
            hello.put_text(&self.secret);
            connection.writer.write_all(&hello).await?;
            connection.writer.flush().await?;
            if wire::read_text(&mut connection.reader).await? != "ok" {
                return Err(io::Error::other("the worker refused the secret"));
            }
        }
        Ok(connection)
    }

    /// Ends a worker, whatever it does.
    pub fn kill(&self, pid: i32) {
        if pid <= 0 {
            return;
        }
        if let Some(stdin) = self.stdin.lock().as_mut() {
            let _ = stdin.write_all(&pid.to_be_bytes()).and_then(|()| stdin.flush());
        }
    }

    /// What a worker that is gone has left of its fault, which is removed; none where none is kept.
    pub fn take_fault(&self, pid: i32) -> Option<String> {
        let path = self.faults.as_ref()?.join(pid.to_string());
        let fault = std::fs::read(&path).unwrap_or_default();
        let _ = std::fs::remove_file(path);
        Some(String::from_utf8_lossy(&fault).into_owned())
    }

    /// Whether the process still runs.
    pub fn is_alive(&self) -> bool {
        self.child.lock().as_mut().is_some_and(|child| matches!(child.try_wait(), Ok(None)))
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // The daemon ends when its input does.
        drop(self.stdin.lock().take());
        let (address, faults) = (self.address.clone(), self.faults.take());
        let Some(mut child) = self.child.lock().take() else { return };
        std::thread::spawn(move || {
            let until = Instant::now() + END_TIME;
            while matches!(child.try_wait(), Ok(None)) && Instant::now() < until {
                std::thread::sleep(Duration::from_millis(20));
            }
            let _ = child.kill();
            let _ = child.wait();
            if let Address::Path(path) = address {
                let _ = std::fs::remove_file(path);
            }
            if let Some(faults) = faults {
                let _ = std::fs::remove_dir_all(faults);
            }
        });
    }
}

/// What the daemon writes once it listens.
fn address(stdout: &mut impl Read, is_unix: bool) -> io::Result<Address> {
    let mut number = [0; 4];
    stdout.read_exact(&mut number)?;
    let number = u32::from_be_bytes(number);
    if !is_unix {
        let port = u16::try_from(number).map_err(|_| io::Error::other("it wrote something else than its port"))?;
        return Ok(Address::Port(port));
    }
    if number > 4096 {
        return Err(io::Error::other("it wrote something else than its socket's name"));
    }
    let mut path = vec![0; number as usize];
    stdout.read_exact(&mut path)?;
    Ok(Address::Path(PathBuf::from(String::from_utf8_lossy(&path).into_owned())))
}

fn variables(environment: &Environment, secret: &str) -> Vec<(String, String)> {
    let mut variables: Vec<(String, String)> =
        std::env::vars().filter(|(name, _)| INHERITED.contains(&name.as_str()) || name.starts_with("LC_")).collect();
    let own = [
        ("PYTHONUNBUFFERED", "YES"),
        ("PYTHONHASHSEED", "0"),
        // The folder of the session's files is put on the path by the worker, behind the standard library.
        ("PYTHONSAFEPATH", "1"),
        ("PYTHONDONTWRITEBYTECODE", "1"),
        ("OMP_NUM_THREADS", "1"),
        ("OPENBLAS_NUM_THREADS", "1"),
        ("PYTHON_WORKER_FACTORY_SECRET", secret),
        ("SPARK_REUSE_WORKER", "1"),
        ("SPARK_BUFFER_SIZE", "65536"),
        ("SPARK_AUTH_SOCKET_TIMEOUT", "15"),
        ("PYTHON_UDF_BATCH_SIZE", "100"),
        ("PYTHON_DAEMON_KILL_WORKER_ON_FLUSH_FAILURE", "1"),
        ("SPARK_PYTHON_RUNTIME", "PYTHON_WORKER"),
    ];
    variables.extend(own.map(|(name, value)| (name.to_string(), value.to_string())));
    if let Some(memory) = environment.memory {
        variables.push(("PYSPARK_EXECUTOR_MEMORY_MB".to_string(), memory.to_string()));
    }
    variables.extend(environment.variables.iter().cloned());
    variables
}
