//! The bearer token of a server that has one.

use std::sync::Arc;
use subtle::ConstantTimeEq;
use tonic::service::Interceptor;
use tonic::{Request, Status};

/// Refuses calls without the token.
#[derive(Clone, Default)]
pub struct BearerToken(Option<Arc<str>>);

impl BearerToken {
    /// A check for a token; without one, all calls pass.
    pub fn new(token: Option<&str>) -> Self {
        Self(token.map(|token| format!("Bearer {token}").into()))
    }
}

impl Interceptor for BearerToken {
    fn call(&mut self, request: Request<()>) -> Result<Request<()>, Status> {
        let Some(expected) = &self.0 else {
            return Ok(request);
        };
        let given = request.metadata().get("authorization").map(|value| value.as_bytes()).unwrap_or_default();
        // In constant time, so that the token cannot be guessed byte by byte.
        if bool::from(given.ct_eq(expected.as_bytes())) {
            return Ok(request);
        }
        Err(Status::unauthenticated("the call carries no valid bearer token"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(token: Option<&str>, header: Option<&'static str>) -> bool {
        let mut request = Request::new(());
        if let Some(header) = header {
            request.metadata_mut().insert("authorization", header.parse().unwrap());
        }
        BearerToken::new(token).call(request).is_ok()
    }

    #[test]
    fn only_the_exact_token_passes() {
        assert!(call(None, None));
        assert!(call(Some("secret"), Some("Bearer secret")));
        for header in [None, Some("Bearer wrong"), Some("bearer secret"), Some("secret"), Some("Bearer secret ")] {
            assert!(!call(Some("secret"), header), "{header:?}");
        }
    }
}
