package config

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io/fs"
	"os"
)

// readPassword reads the one line of a file. Errors do not name the file.
func readPassword(file string) (string, error) {
	b, err := readNamed(file)
	if err != nil {
		return "", err
	}
	b = bytes.TrimSuffix(bytes.TrimSuffix(b, []byte("\n")), []byte("\r"))
	switch {
	case len(b) == 0:
		return "", errors.New("the file is empty")
	case bytes.ContainsAny(b, "\r\n"):
		return "", errors.New("the file must hold one line, the password")
	}
	return string(b), nil
}

// readNamed reads a file. Errors do not name it, since it may be a password
// that was written into the wrong place.
func readNamed(file string) ([]byte, error) {
	b, err := os.ReadFile(file)
	var p *fs.PathError
	if errors.As(err, &p) {
		err = errors.New("the file cannot be read: " + p.Err.Error())
	}
	return b, err
}

// loadCA returns the authorities to trust; nil means the system's.
func loadCA(t TLS) (*x509.CertPool, error) {
	if t.CAFile == "" {
		return nil, nil
	}
	pem, err := readNamed(t.CAFile)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, errors.New("the file holds no PEM certificate")
	}
	return pool, nil
}

// loadKeyPair returns this client's certificate, if it has one.
func loadKeyPair(t TLS) ([]tls.Certificate, error) {
	if t.CertFile == "" {
		return nil, nil
	}
	cert, err := readNamed(t.CertFile)
	if err != nil {
		return nil, err
	}
	key, err := readNamed(t.KeyFile)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(cert, key)
	return []tls.Certificate{pair}, err
}

// build makes what crypto/tls wants; nil when TLS is off.
func (t TLS) build() (*tls.Config, error) {
	if !t.on() {
		return nil, nil
	}
	pool, err := loadCA(t)
	if err != nil {
		return nil, err
	}
	pair, err := loadKeyPair(t)
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS12, RootCAs: pool, ServerName: t.ServerName, Certificates: pair,
		InsecureSkipVerify: isTrue(t.Insecure), //nolint:gosec // asked for, and warned of
	}, nil
}
